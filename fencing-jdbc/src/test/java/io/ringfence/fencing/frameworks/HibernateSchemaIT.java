package io.ringfence.fencing.frameworks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.ringfence.fencing.NoLeaseException;
import io.ringfence.fencing.Sql;
import java.sql.SQLException;
import java.util.Map;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Hibernate's creation of tables, which belongs to the pool itself, or at least to the leader. */
class HibernateSchemaIT extends FrameworkFixture {
    private static final Map<String, String> CREATE = Map.of("hibernate.hbm2ddl.auto", "create-only");

    @Override
    Framework over(DataSource dataSource) {
        return new PlainJdbc(dataSource);
    }

    @BeforeEach
    void withoutTheTable() throws SQLException {
        Sql.execute(database.dataSource(), "DROP TABLE invoice");
    }

    private boolean exists() throws SQLException {
        return Sql.one(database.dataSource(), "SELECT to_regclass('invoice') IS NOT NULL")
                .equals("t");
    }

    @Test
    void isRefused_withoutALease() throws SQLException {
        lease.set(null);

        assertThatThrownBy(() -> new Hibernate(fenced(), CREATE)).isInstanceOf(NoLeaseException.class);
        assertThat(exists()).isFalse();
        expectNoConnectionInUse();
    }

    @Test
    void works_forTheLeader() throws SQLException {
        new Hibernate(fenced(), CREATE).close();

        assertThat(exists()).isTrue();
        expectNoConnectionInUse();
    }

    @Test
    void works_overThePoolItself() throws SQLException {
        lease.set(null);
        new Hibernate(pool, CREATE).close();

        assertThat(exists()).isTrue();
    }
}
