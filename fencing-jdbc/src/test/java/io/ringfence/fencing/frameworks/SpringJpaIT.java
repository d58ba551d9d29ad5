package io.ringfence.fencing.frameworks;

import io.ringfence.fencing.FencedOutException;
import io.ringfence.fencing.NoLeaseException;
import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import java.util.Objects;
import javax.sql.DataSource;
import org.hibernate.exception.GenericJDBCException;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.orm.jpa.LocalContainerEntityManagerFactoryBean;
import org.springframework.orm.jpa.SharedEntityManagerCreator;
import org.springframework.orm.jpa.persistenceunit.PersistenceManagedTypes;
import org.springframework.orm.jpa.vendor.HibernateJpaVendorAdapter;
import org.springframework.transaction.TransactionSystemException;

/** Spring with JPA over Hibernate, which wraps what a commit throws. Outside of transactions there is Spring's template. */
class SpringJpaIT extends FrameworkContract {

    @Override
    Framework over(DataSource dataSource) {
        EntityManagerFactory factory = entityManagers(dataSource);
        JpaTransactionManager manager = new JpaTransactionManager(factory);
        EntityManager entities = SharedEntityManagerCreator.createSharedEntityManager(factory);
        return new SpringManaged(
                manager,
                transactional -> new SpringJpaInvoices(entities, dataSource),
                new SpringInvoices(dataSource, () -> null),
                factory::close);
    }

    private static EntityManagerFactory entityManagers(DataSource dataSource) {
        LocalContainerEntityManagerFactoryBean bean = new LocalContainerEntityManagerFactoryBean();
        bean.setDataSource(dataSource);
        bean.setManagedTypes(PersistenceManagedTypes.of(HibernateInvoice.class.getName()));
        bean.setJpaVendorAdapter(new HibernateJpaVendorAdapter());
        bean.afterPropertiesSet();
        return Objects.requireNonNull(bean.getObject());
    }

    @Override
    Arrival arrival() {
        return new Arrival(
                TransactionSystemException.class,
                FencedOutException.class,
                NoLeaseException.class,
                DataIntegrityViolationException.class,
                GenericJDBCException.class);
    }
}
