#!/bin/sh
# Fills in the settings of one part of the cluster from the environment, writes
# them to the folder RUN, and starts that part.
set -eu
umask 077
files=$(dirname "$0")
fill() { envsubst <"$files/$1" >"$RUN/$1"; }

case $1 in
  # Takes all of its settings from the environment.
  etcd) exec etcd ;;
  patroni)
    fill patroni.yml
    exec patroni "$RUN/patroni.yml"
    ;;
  haproxy)
    fill haproxy.cfg
    exec haproxy -db -f "$RUN/haproxy.cfg"
    ;;
  pgbouncer)
    printf '"shop" "%s"\n' "$PASSWORD" >"$RUN/users.txt"
    fill pgbouncer.ini
    exec pgbouncer "$RUN/pgbouncer.ini"
    ;;
  *)
    echo "There is no part $1." >&2
    exit 2
    ;;
esac
