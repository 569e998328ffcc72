#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What docs/atlas.md was made of: ordinary work by ordinary programs in FOLDER,
# which must not exist yet, each with its report in FOLDER/reports.  As root it
# installs a package of 300 files, syscull-atlas, and removes it again.
#
# usage: docs/atlas.sh FOLDER [COMMAND-TO-RUN-SYSCULL]
set -eu
folder=${1:?usage: atlas.sh FOLDER [SYSCULL]}
syscull=${2:-syscull}
mkdir "$folder"
cd "$folder"
mkdir reports files repository source out package
export LC_ALL=C.UTF-8 HOME="$PWD"
unset TZ || :

for i in $(seq 300); do echo "line $i" >"files/$i"; done
cp files/* repository
(cd repository && git init -q . && git add . && git -c user.name=a -c user.email=a@example.org commit -qm files)
printf '#include <stdio.h>\nint main(void) { puts("x"); return 0; }\n' >source/a.c
printf 'cmake_minimum_required(VERSION 3.20)\nproject(x C)\nadd_executable(x a.c)\n' >source/CMakeLists.txt
sqlite3 a.db 'create table t(a)'
inserts=$(for i in $(seq 50); do echo "insert into t values($i);"; done)
mkdir -p package/DEBIAN package/usr/share/syscull-atlas
cp files/* package/usr/share/syscull-atlas
printf 'Package: syscull-atlas\nVersion: 1\nArchitecture: all\nMaintainer: a <a@example.org>\nDescription: files\n' \
	>package/DEBIAN/control
dpkg-deb --root-owner-group -b package a.deb >/dev/null

run() {
	name=$1
	shift
	if ! command -v "$1" >/dev/null; then
		echo "$name: no $1 here"
		return
	fi
	"$syscull" run --no-keep -v --format "text=reports/$name" -- "$@" >out/output 2>out/errors </dev/null ||
		echo "$name: failed"
	sed -n 1p "reports/$name"
	grep -E '^[0-9]+\. ' "reports/$name" || :
}

run apt apt list
if [ "$(id -u)" = 0 ]; then
	run dpkg dpkg -i a.deb
	dpkg -P syscull-atlas >/dev/null
fi
run git git clone -q repository clone
run gcc gcc -c source/a.c -o out/a.o
run cmake cmake -S source -B out/cmake
run rsync rsync -a files/ copy/
run tar-c tar cf files.tar files
mkdir out/tar out/busybox
run tar-x tar xf files.tar -C out/tar
run man man ls
run sqlite3 sqlite3 a.db "$inserts"
run php php -r 'for($i=1;$i<=300;$i++){$n+=strlen(file_get_contents("files/$i"));} echo $n;'
run ruby ruby -e 'puts Dir["files/*"].map{|f| File.read(f).size}.sum'
run node node -e 'const fs=require("fs");let n=0;for(let i=1;i<=300;i++)n+=fs.readFileSync("files/"+i).length;console.log(n)'
run perl perl -MFile::Copy -e 'mkdir "out/perl"; copy("files/$_","out/perl/$_") for 1..300'
run lua lua5.4 -e 'for i=1,300 do local f=io.open("files/"..i); f:read("a"); f:close() end'
run gawk sh -c 'exec gawk "{print}" files/*'
run zsh zsh -c 'for i in {1..1000}; do echo $i >>out/zsh; done'
run dash dash -c 'i=0; while [ $i -lt 100 ]; do x=$(expr $i + 1); i=$x; done'
run busybox-ls busybox ls -l files
run busybox-tar busybox tar xf files.tar -C out/busybox
run busybox-sh busybox sh -c 'for i in $(seq 300); do echo $i; done >>out/sh'
