#!/bin/sh
# Creates Temporal's databases on PostgreSQL, or brings them to the version of the tools. It may run again at any time.
# It needs the tools of the server's version (image temporalio/admin-tools) and SQL_PLUGIN, SQL_HOST, SQL_PORT, SQL_USER
# and SQL_PASSWORD. With ENABLE_ES=true it also creates the index of OpenSearch at ES_SEEDS.
set -eu

for database in temporal temporal_visibility; do
  temporal-sql-tool --db "$database" create-database
  temporal-sql-tool --db "$database" setup-schema -v 0.0
  case $database in
    temporal) schema=temporal ;;
    *) schema=visibility ;;
  esac
  temporal-sql-tool --db "$database" update-schema --schema-name "postgresql/v12/$schema"
done

if [ "${ENABLE_ES:-false}" = true ]; then
  temporal-elasticsearch-tool --ep "http://$ES_SEEDS:9200" setup-schema
  temporal-elasticsearch-tool --ep "http://$ES_SEEDS:9200" create-index --index temporal_visibility_v1_dev
fi
