package io.ringfence.fencing.frameworks;

import io.ringfence.fencing.FencedOutException;
import io.ringfence.fencing.NoLeaseException;
import javax.sql.DataSource;
import org.jdbi.v3.core.statement.UnableToExecuteStatementException;
import org.jdbi.v3.core.transaction.TransactionException;

/** JDBI: refusals arrive as they are. */
class JdbiIT extends FrameworkContract {

    @Override
    Framework over(DataSource dataSource) {
        return new JdbiCore(dataSource);
    }

    @Override
    Arrival arrival() {
        return new Arrival(
                FencedOutException.class,
                FencedOutException.class,
                NoLeaseException.class,
                TransactionException.class,
                UnableToExecuteStatementException.class);
    }
}
