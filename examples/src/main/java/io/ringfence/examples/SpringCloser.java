package io.ringfence.examples;

import com.zaxxer.hikari.HikariDataSource;
import io.ringfence.election.Elections;
import io.ringfence.election.LeaderLoop;
import io.ringfence.election.Lease;
import io.ringfence.election.consul.ConsulElections;
import io.ringfence.fencing.FencedDataSource;
import io.ringfence.fencing.ResourceFence;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.OptionalLong;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.EnableTransactionManagement;

/**
 * Closes invoice batches as {@link InvoiceCloser} does, by a Spring service with {@code @Transactional}: only the
 * DataSource that Spring is given is another one.
 */
public final class SpringCloser {
    private static final Duration PAUSE_WHEN_IDLE = Duration.ofMillis(500);

    private SpringCloser() {}

    /** Spring's configuration, as it would be without a fence. */
    @Configuration(proxyBeanMethods = false)
    @EnableTransactionManagement
    static class Beans {
        @Bean
        PlatformTransactionManager transactionManager(DataSource dataSource) {
            return new JdbcTransactionManager(dataSource);
        }

        @Bean
        SpringInvoices invoices(DataSource dataSource) {
            return new SpringInvoices(new JdbcTemplate(dataSource));
        }
    }

    /**
     * Runs until it is ended.
     *
     * @param args the address of a Consul agent, and a JDBC URL, user and password of a PostgreSQL database
     * @throws SQLException if the database cannot be used
     * @throws InterruptedException if the thread is interrupted
     */
    public static void main(String[] args) throws SQLException, InterruptedException {
        try (HikariDataSource pool = new HikariDataSource()) {
            pool.setJdbcUrl(args[1]);
            pool.setUsername(args[2]);
            pool.setPassword(args[3]);
            try (Connection connection = pool.getConnection()) {
                InvoiceBatches.createTables(connection); // not through the fence: no leader is needed for it
            }
            try (Elections elections = ConsulElections.builder(args[0]).build()) {
                closeBatches(pool, elections, new CountDownLatch(1));
            }
        }
    }

    static void closeBatches(DataSource pool, Elections elections, CountDownLatch shutdown)
            throws InterruptedException {
        ResourceFence fence = ResourceFence.on(pool, "invoices");
        AtomicReference<@Nullable Lease> current = new AtomicReference<>();
        DataSource fenced = FencedDataSource.of(pool, fence, current::get);
        try (AnnotationConfigApplicationContext spring = start(fenced);
                LeaderLoop loop = elections.election("spring-closer").lead(fence.raiseBefore(lease -> {
                    current.set(lease);
                    closeWhileHeld(lease, spring.getBean(SpringInvoices.class));
                }))) {
            System.out.println("takes part in " + loop.election());
            shutdown.await();
        }
    }

    static AnnotationConfigApplicationContext start(DataSource dataSource) {
        AnnotationConfigApplicationContext spring = new AnnotationConfigApplicationContext();
        spring.registerBean(DataSource.class, () -> dataSource);
        spring.register(Beans.class);
        spring.refresh();
        return spring;
    }

    private static void closeWhileHeld(Lease lease, SpringInvoices invoices) throws InterruptedException {
        while (lease.isHeld()) {
            OptionalLong closed = invoices.closeNext(); // refused if another process leads: that ends the term
            if (closed.isPresent()) {
                System.out.println("closed batch " + closed.getAsLong() + " with token " + lease.fencingToken());
            } else {
                Thread.sleep(PAUSE_WHEN_IDLE.toMillis());
            }
        }
    }
}
