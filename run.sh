export HOME=/tmp/hk/h XDG_DATA_HOME=/tmp/hk/h/d DRIP_SESSION_ID=s DRIP_DIFF_POLICY=cheapest
cd /tmp/hk/h; exec "$@"
