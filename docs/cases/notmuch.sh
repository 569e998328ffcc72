#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A thread of encrypted messages to measure with: a throw-away key and a mail
# store of its own, in FOLDER, which must not exist yet.  Nothing of the user's
# is read or written.  FOLDER/env has the variables to work with it; with them
# `gpgconf --kill gpg-agent` ends the agent that was started for it.
#
# usage: docs/cases/notmuch.sh FOLDER [MESSAGES]
set -eu
folder=${1:?usage: notmuch.sh FOLDER [MESSAGES]}
messages=${2:-16}
mkdir "$folder"
folder=$(cd "$folder" && pwd)

# The agent's socket lies in here: names of sockets are at most 107 bytes long.
[ ${#folder} -le 70 ] || { echo "notmuch.sh: $folder: the name is too long for gpg-agent's socket" >&2; exit 2; }
mkdir -m 700 "$folder/gnupg"
mkdir -p "$folder/mail/cur" "$folder/mail/new" "$folder/mail/tmp"
cat >"$folder/env" <<END
export GNUPGHOME='$folder/gnupg'
export NOTMUCH_CONFIG='$folder/config'
END
. "$folder/env"
cat >"$NOTMUCH_CONFIG" <<END
[database]
path=$folder/mail
[user]
name=Reader
primary_email=reader@example.org
END

gpg --batch --quiet --no-tty --pinentry-mode loopback --passphrase '' \
	--quick-gen-key 'Reader <reader@example.org>' default default never 2>"$folder/gpg-log"
n=1
while [ $n -le "$messages" ]; do
	printf 'Content-Type: text/plain\n\nThis is message %d of %d.\n' $n "$messages" |
		gpg --batch --quiet --no-tty --trust-model always --armor --encrypt -r reader@example.org >"$folder/body"
	{
		printf 'From: Writer <writer@example.org>\nTo: Reader <reader@example.org>\n'
		printf 'Subject: thread\nDate: Mon, 02 Jan 2023 10:%02d:00 +0000\n' $((n % 60))
		printf 'Message-ID: <%d@example.org>\n' $n
		[ $n -eq 1 ] || printf 'In-Reply-To: <1@example.org>\nReferences: <1@example.org>\n'
		printf 'MIME-Version: 1.0\nContent-Type: multipart/encrypted; boundary="b";\n'
		printf ' protocol="application/pgp-encrypted"\n\n'
		printf -- '--b\nContent-Type: application/pgp-encrypted\n\nVersion: 1\n\n'
		printf -- '--b\nContent-Type: application/octet-stream\n\n'
		cat "$folder/body"
		printf -- '\n--b--\n'
	} >"$folder/mail/cur/$n:2,"
	n=$((n + 1))
done
rm "$folder/body"
notmuch new --quiet
