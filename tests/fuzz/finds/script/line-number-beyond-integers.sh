#!/bin/bash
echo "$0: line 99999999999999999999: a" >&2
exit 1
