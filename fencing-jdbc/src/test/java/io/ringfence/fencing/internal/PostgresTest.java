package io.ringfence.fencing.internal;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ringfence.fencing.FencingException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PostgresTest {

    @ParameterizedTest
    @ValueSource(
            strings = {
                "PostgreSQL 8.0.2 on i686-pc-linux-gnu, compiled by GCC gcc (GCC) 3.4.2, Redshift 1.0.12103",
                "PostgreSQL 12.12 (Greenplum Database 7.0.0 build) on x86_64",
                "PostgreSQL 9.5.0 on x86_64-unknown-linux-gnu (Materialize v0.100.0)",
                "PostgreSQL 12.3, compiled by Visual C++ build 1914, 64-bit, QuestDB",
                "PostgreSQL 13.14 on x86_64",
                "PostgreSQL 15.12-YB-2025.1.0.0-b0 on x86_64",
            })
    void refusesRelativesAndOldServers(String version) {
        assertThatThrownBy(() -> Postgres.requireVersion(version)).isInstanceOf(FencingException.class);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"PostgreSQL 14.1 on x86_64", "PostgreSQL 18.0 (Debian 18.0-1) on x86_64", "PostgreSQL 19beta1"})
    void takesPostgres(String version) {
        assertThatCode(() -> Postgres.requireVersion(version)).doesNotThrowAnyException();
    }
}
