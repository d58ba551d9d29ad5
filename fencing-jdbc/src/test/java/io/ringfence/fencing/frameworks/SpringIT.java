package io.ringfence.fencing.frameworks;

import io.ringfence.fencing.FencedOutException;
import io.ringfence.fencing.NoLeaseException;
import javax.sql.DataSource;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.jdbc.UncategorizedSQLException;
import org.springframework.jdbc.support.JdbcTransactionManager;

/** Spring with JdbcTransactionManager: refusals arrive as they are. */
class SpringIT extends FrameworkContract {

    @Override
    Framework over(DataSource dataSource) {
        return SpringManaged.withTemplate(new JdbcTransactionManager(dataSource), dataSource);
    }

    @Override
    Arrival arrival() {
        return new Arrival(
                FencedOutException.class,
                FencedOutException.class,
                NoLeaseException.class,
                DataIntegrityViolationException.class,
                UncategorizedSQLException.class);
    }
}
