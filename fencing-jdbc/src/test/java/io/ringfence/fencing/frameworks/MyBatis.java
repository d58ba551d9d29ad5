package io.ringfence.fencing.frameworks;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.apache.ibatis.mapping.Environment;
import org.apache.ibatis.session.Configuration;
import org.apache.ibatis.session.ExecutorType;
import org.apache.ibatis.session.SqlSession;
import org.apache.ibatis.session.SqlSessionFactory;
import org.apache.ibatis.session.SqlSessionFactoryBuilder;
import org.apache.ibatis.transaction.jdbc.JdbcTransactionFactory;

/** MyBatis: sessions with its own JDBC transactions. */
final class MyBatis implements Framework {
    private final SqlSessionFactory sessions;

    MyBatis(DataSource dataSource) {
        Configuration configuration =
                new Configuration(new Environment("test", new JdbcTransactionFactory(), dataSource));
        configuration.addMapper(MyBatisMapper.class);
        sessions = new SqlSessionFactoryBuilder().build(configuration);
    }

    @Override
    public void inTransaction(Consumer<Invoices> work) {
        try (SqlSession session = sessions.openSession()) {
            work.accept(new InSession(sessions, session));
            session.commit(true); // without the argument it commits only what this session itself has written
        }
    }

    @Override
    public void inReadOnlyTransaction(Consumer<Invoices> work) {
        try (SqlSession session = sessions.openSession()) {
            session.getConnection().setReadOnly(true);
            work.accept(new InSession(sessions, session));
            session.commit();
        } catch (SQLException e) {
            throw new PlainJdbc.Failure(e);
        }
    }

    @Override
    public void withoutTransaction(Consumer<Invoices> work) {
        try (SqlSession session = sessions.openSession(true)) {
            work.accept(new InSession(sessions, session));
        }
    }

    /** Reads, and leaves the end of the transaction to the session, as most code with MyBatis does. */
    String readAndClose(int id, Runnable meanwhile) {
        try (SqlSession session = sessions.openSession()) {
            String status = session.getMapper(MyBatisMapper.class).status(id);
            meanwhile.run();
            return status;
        }
    }

    void sleep() {
        try (SqlSession session = sessions.openSession()) {
            session.getMapper(MyBatisMapper.class).sleep();
        }
    }

    @Override
    public void close() {
        // holds nothing
    }

    private record InSession(SqlSessionFactory sessions, SqlSession session) implements Invoices {

        private MyBatisMapper mapper() {
            return session.getMapper(MyBatisMapper.class);
        }

        @Override
        public String status(int id) {
            session.clearCache();
            return mapper().status(id);
        }

        @Override
        public void insert(int id, String status, Integer cancels) {
            mapper().insert(id, status, cancels);
        }

        @Override
        public void update(int id, String status) {
            mapper().update(id, status);
        }

        /** In a second session on the same connection, which stays open: it would close that too. */
        @Override
        public void updateAll(List<Integer> ids, String status) {
            SqlSession batch = sessions.openSession(ExecutorType.BATCH, connection());
            ids.forEach(id -> batch.getMapper(MyBatisMapper.class).update(id, status));
            batch.flushStatements();
        }

        @Override
        public void nested(Consumer<Invoices> work) {
            PlainJdbc.inSavepoint(connection(), () -> work.accept(this));
        }

        @Override
        public Connection connection() {
            return session.getConnection();
        }
    }
}
