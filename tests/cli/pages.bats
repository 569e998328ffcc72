#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# Reports for browsers and for bug trackers.
load helper

setup_file()
{
	cd "$BATS_FILE_TMPDIR" || return 1
	mkdir d 'odd <script>"&'
	for i in $(seq 200); do : >"d/$i"; : >"odd <script>\"&/$i"; done
}

setup()
{
	cd "$BATS_FILE_TMPDIR" || return 1
}

@test "one page, well formed, without scripts and without anybody's network" {
	need ptrace "$SYSCULL" run -q -- true
	"$SYSCULL" run --no-keep -q --engine ptrace --format html=page.html -- ls -l 'odd <script>"&' >/dev/null
	/usr/bin/python3 - <<-'END'
	import html.parser
	VOID = {"meta", "br"}
	class Page(html.parser.HTMLParser):
	    open, text, tags = [], "", set()
	    def handle_starttag(self, tag, attrs):
	        self.tags.add(tag)
	        assert not any(name in ("src", "href", "onclick", "onload") for name, _ in attrs), attrs
	        if tag not in VOID:
	            self.open.append(tag)
	    def handle_endtag(self, tag):
	        assert self.open.pop() == tag, tag
	    def handle_data(self, data):
	        self.text += data
	page = Page()
	with open("page.html", encoding="utf-8") as file:
	    text = file.read()
	page.feed(text)
	page.close()
	assert not page.open, page.open
	assert not page.tags & {"script", "link", "img", "iframe"}, page.tags
	assert "http:" not in text and "https:" not in text
	assert "1. xattr-probe" in page.text and 'odd <script>"&' in page.text
	assert "closed: " in page.text and "lgetxattr" in page.text
	END
}

@test "commands and proofs on the page can be typed, whatever is in them" {
	need ptrace "$SYSCULL" run -q -- true
	/usr/bin/python3 - <<-'END'
	import os
	os.mkdir("names")
	for i in range(300):
	    open("names/%d<b onclick=x>&amp;\\n\x1b[31m" % i, "w").close()
	END
	"$SYSCULL" run --no-keep -q --engine ptrace --format html=names.html -- sh -c $'ls -l names\n: "a\tb"' >/dev/null
	/usr/bin/python3 - <<-'END'
	import html, re
	with open("names.html", encoding="utf-8") as file:
	    raw = file.read()
	assert "\x1b" not in raw and "<b" not in raw.replace("<body", "").replace("<br", ""), raw
	text = html.unescape(re.sub("<[^>]*>", "", raw))
	# As a shell reads it, once.
	assert "syscull fix --with xattr=off -- sh -c $'ls -l names\\n: \"a\\tb\"'" in text, text
	# As strace writes it, once.
	assert re.search(r'lgetxattr\("names/[0-9]+<b onclick=x>&amp;\\\\n\\33\[31m", "security', text), text
	END
}

@test "a page of a clean run says so" {
	need ptrace "$SYSCULL" run -q -- true
	"$SYSCULL" run --no-keep -q --format html=clean.html -- true
	grep -q 'Waste</dt><dd class="money">none' clean.html
}

@test "a finding becomes a bug report" {
	need ptrace "$SYSCULL" run -q -- true
	"$SYSCULL" record -o trace -- ls -l d >/dev/null
	run_apart "$SYSCULL" report --format issue trace
	[ "$status" -eq 1 ]
	head -n 1 out | grep -q '^# ls: attribute look-ups'
	grep -q '^    ls -l d$' out
	grep -q '^402 of its .* system calls are of no use' out
	grep -q '^| 201 | lgetxattr | security.selinux | ENODATA |' out
	# The guard is a line that can be typed, and that fails as long as it is not fixed.
	guard=$(sed -n 's/^    \(syscull check .*\)/\1/p' out)
	[ -n "$guard" ]
	run_apart bash -c "'$SYSCULL' ${guard#syscull }"
	[ "$status" -eq 121 ]
	run_apart "$SYSCULL" report --format issue --finding 9 trace
	expect "$status$output" 2
	[[ $errors == "syscull: --finding 9: the report of this run has "*" finding"* ]]
	run_apart "$SYSCULL" report --weight saving trace
	expect "$status$output$errors" "2syscull: --weight goes with --format collapsed"
	run_apart "$SYSCULL" report --cwd / trace
	expect "$status$output$errors" "2syscull: --cwd is for logs of strace's; a trace has the directory"
	run_apart "$SYSCULL" report --finding 2 trace
	expect "$status$errors" "2syscull: --finding goes with --format issue"
	run_apart "$SYSCULL" report --finding 0 trace
	[ "$status" -eq 2 ]
}

@test "escapes are written once in a bug report" {
	need ptrace "$SYSCULL" run -q -- true
	dir=$'d\n\033[2Jx'
	mkdir "$dir"
	for i in $(seq 100); do : >"$dir/$i"; done
	"$SYSCULL" record -o trace -- ls -l "$dir" >/dev/null
	"$SYSCULL" report --format issue trace >out || true
	# In Markdown a backslash is two, and a bracket has one.
	grep '^Where: ' out | grep -qF 'd\\n\\33\[2Jx'
	expect "$(grep '^Where: ' out | grep -cF 'd\\\\n')" 0
}

@test "markup of a program's is text in a bug report" {
	need ptrace "$SYSCULL" run -q -- true
	"$SYSCULL" record -o trace -- ls -l 'odd <script>"&' >/dev/null
	"$SYSCULL" report --format issue trace >out || true
	grep -q '^Where: .*odd \\<script\\>' out
	# In code it is as it was.
	grep -q "^    ls -l 'odd <script>\"&'\$" out
}
