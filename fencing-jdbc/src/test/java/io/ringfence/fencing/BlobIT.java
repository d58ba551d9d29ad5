package io.ringfence.fencing;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.ringfence.servers.*;
import java.sql.*;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(SharedServers.class)
class BlobIT {
    @Test
    void aLargeObjectDoesNotOutliveTheTransaction(PostgresDatabase database) throws Exception {
        Sql.execute(
                database.dataSource(),
                FenceSchema.postgres().fenceTable(),
                "CREATE TABLE t (lo oid)",
                "INSERT INTO t SELECT lo_from_bytea(0, 'abc')");
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(database.jdbcUrl());
        config.setUsername(database.user());
        config.setPassword(database.password());
        config.setMaximumPoolSize(1);
        config.setAutoCommit(false);
        try (HikariDataSource pool = new HikariDataSource(config)) {
            ResourceFence fence = ResourceFence.on(pool, "t");
            fence.raise(FakeLease.of(7));
            Blob escaped = fence.inTransaction(FakeLease.of(7), connection -> {
                ResultSet row = connection.createStatement().executeQuery("SELECT lo FROM t");
                row.next();
                return row.getBlob(1);
            });
            fence.raise(FakeLease.of(8));
            org.assertj.core.api.Assertions.assertThatThrownBy(
                            () -> escaped.setBytes(1, "zzz".getBytes(java.nio.charset.StandardCharsets.US_ASCII)))
                    .isInstanceOf(SQLException.class)
                    .hasMessageContaining("has ended");
            fence.useTransaction(FakeLease.of(8), connection -> {
                ResultSet row = connection.createStatement().executeQuery("SELECT lo FROM t");
                row.next();
                Blob blob = row.getBlob(1);
                try (PreparedStatement p = connection.prepareStatement("UPDATE t SET lo = ?")) {
                    p.setBlob(1, blob);
                    p.executeUpdate();
                }
            });
            org.assertj.core.api.Assertions.assertThat(
                            Sql.one(database.dataSource(), "SELECT encode(lo_get(lo), 'escape') FROM t"))
                    .isEqualTo("abc");
        }
    }
}
