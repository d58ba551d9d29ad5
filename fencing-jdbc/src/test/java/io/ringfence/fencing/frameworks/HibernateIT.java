package io.ringfence.fencing.frameworks;

import io.ringfence.fencing.FencedOutException;
import io.ringfence.fencing.NoLeaseException;
import javax.sql.DataSource;
import org.hibernate.TransactionException;
import org.hibernate.exception.GenericJDBCException;

/** Hibernate: refusals arrive as they are. */
class HibernateIT extends FrameworkContract {

    @Override
    Framework over(DataSource dataSource) {
        return new Hibernate(dataSource);
    }

    @Override
    Arrival arrival() {
        return new Arrival(
                FencedOutException.class,
                FencedOutException.class,
                NoLeaseException.class,
                TransactionException.class,
                GenericJDBCException.class);
    }
}
