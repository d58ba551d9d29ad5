package io.ringfence.fencing.frameworks;

import io.ringfence.fencing.FencedOutException;
import io.ringfence.fencing.NoLeaseException;
import javax.sql.DataSource;
import org.jooq.exception.DataAccessException;

/** jOOQ wraps what a commit throws, and lets through what a statement throws. */
class JooqIT extends FrameworkContract {

    @Override
    Framework over(DataSource dataSource) {
        return new Jooq(dataSource);
    }

    @Override
    Arrival arrival() {
        return new Arrival(
                DataAccessException.class,
                FencedOutException.class,
                NoLeaseException.class,
                DataAccessException.class,
                DataAccessException.class);
    }
}
