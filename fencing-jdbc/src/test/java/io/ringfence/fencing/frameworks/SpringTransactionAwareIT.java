package io.ringfence.fencing.frameworks;

import io.ringfence.fencing.FencedOutException;
import io.ringfence.fencing.NoLeaseException;
import javax.sql.DataSource;
import org.springframework.jdbc.UncategorizedSQLException;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.transaction.TransactionSystemException;

/** Spring with DataSourceTransactionManager, for repositories that know nothing of Spring: their proxy stands above ours. */
class SpringTransactionAwareIT extends FrameworkContract {

    @Override
    Framework over(DataSource dataSource) {
        return SpringManaged.withTemplate(
                new DataSourceTransactionManager(dataSource), new TransactionAwareDataSourceProxy(dataSource));
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
