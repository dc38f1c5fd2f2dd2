#!/bin/sh
files=`ls *.txt`
for f in $files; do
  rm $f
done
