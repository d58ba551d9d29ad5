package io.ringfence.fencing.frameworks;

import io.ringfence.fencing.FencedOutException;
import io.ringfence.fencing.NoLeaseException;
import javax.sql.DataSource;
import org.springframework.jdbc.UncategorizedSQLException;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.transaction.TransactionSystemException;

/** Spring, with connections that are fetched only when a statement needs one: that proxy, too, stands above ours. */
class SpringLazyIT extends FrameworkContract {

    @Override
    Framework over(DataSource dataSource) {
        DataSource lazy = new LazyConnectionDataSourceProxy(dataSource);
        return SpringManaged.withTemplate(new DataSourceTransactionManager(lazy), lazy);
    }

    @Override
    Arrival arrival() {
        return new Arrival(
                FencedOutException.class,
                FencedOutException.class,
                NoLeaseException.class,
                TransactionSystemException.class,
                UncategorizedSQLException.class);
    }
}
