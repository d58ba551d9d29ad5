package io.ringfence.fencing.frameworks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.ringfence.fencing.FakeLease;
import io.ringfence.fencing.FencedOutException;
import io.ringfence.fencing.FencedOutException.Reason;
import io.ringfence.fencing.FencingException;
import io.ringfence.fencing.NoLeaseException;
import io.ringfence.fencing.RowFence;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What holds for every framework that runs over a fenced data source and knows nothing of it. */
abstract class FrameworkContract extends FrameworkFixture {
    private static final int REFUSALS = 1_000;

    private final RowFence rows = RowFence.onColumn("fencing_token").key("id");

    /** In which types failures arrive. */
    abstract Arrival arrival();

    private void expectRefusedCommit(Throwable thrown) {
        expectRefused(thrown, arrival().refusedCommit());
    }

    private static void expectRefused(Throwable thrown, Class<?> arrived) {
        assertThat(thrown).isExactlyInstanceOf(arrived);
        assertThat(FencedOutException.find(thrown))
                .hasValueSatisfying(refusal -> assertThat(refusal.reason()).isEqualTo(Reason.SUPERSEDED));
    }

    private static <T> T among(Throwable thrown, Class<T> type) {
        return causes(thrown)
                .filter(type::isInstance)
                .map(type::cast)
                .findFirst()
                .orElse(null);
    }

    private static Stream<Throwable> causes(Throwable thrown) {
        return Stream.iterate(thrown, cause -> cause != null, Throwable::getCause);
    }

    /** Does some work, and meanwhile another process takes the lead. */
    private Consumer<Invoices> overtaken(Consumer<Invoices> work) {
        return invoices -> {
            work.accept(invoices);
            raise(newer);
        };
    }

    @Test
    void commits_whileTheLeaseIsTheNewest() {
        framework.inTransaction(invoices -> {
            invoices.update(1, "closed");
            invoices.insert(3, "new", null);
            assertThat(invoices.status(3)).isEqualTo("new");
        });

        assertThat(committed()).containsExactly("1|closed", "2|open", "3|new");
        expectNoConnectionInUse();
    }

    static Stream<String> settings() {
        return Stream.of(
                "autosave=never",
                "autosave=always",
                "autosave=conservative",
                "preferQueryMode=simple",
                "preferQueryMode=simple&autosave=always",
                "prepareThreshold=1");
    }

    /** The clean-up of frameworks ends in setAutoCommit(true), which commits by the rules of JDBC. */
    @ParameterizedTest
    @MethodSource("settings")
    void aStaleTransactionIsRefused_andStaysSoThroughTheCleanUp(String settings) {
        restart(settings);
        List<String> backends = backends();
        Consumer<Invoices> work = invoices -> {
            invoices.update(1, "stale");
            invoices.insert(3, "stale", null);
        };

        expectRefusedCommit(catchThrowable(() -> framework.inTransaction(overtaken(work))));
        expectNoConnectionInUse();
        expectRefusedCommit(catchThrowable(() -> framework.inTransaction(work)));
        lease.set(newer);
        framework.inTransaction(invoices -> invoices.update(2, "by the next"));

        assertThat(committed()).containsExactly("1|open", "2|by the next");
        expectNoConnectionInUse();
        assertThat(backends()).as("no connection was broken").isEqualTo(backends);
    }

    @Test
    void aStaleTransactionCommits_withoutTheFence() {
        try (Framework unfenced = over(pool)) {
            unfenced.inTransaction(overtaken(invoices -> invoices.update(1, "stale")));
        }

        assertThat(committed()).containsExactly("1|stale", "2|open");
    }

    static List<FakeLease> notHeld() {
        FakeLease lost = FakeLease.of(4);
        lost.lose();
        List<FakeLease> leases = new ArrayList<>();
        leases.add(null);
        leases.add(lost);
        return leases;
    }

    @ParameterizedTest
    @MethodSource("notHeld")
    void reads_andIsRefusedToWrite_withoutALease(FakeLease none) {
        lease.set(none);
        List<Consumer<Invoices>> writes = List.of(
                invoices -> invoices.insert(3, "x", null),
                invoices -> invoices.update(1, "x"),
                invoices -> invoices.updateAll(List.of(1, 2), "x"));

        for (Consumer<Invoices> write : writes) {
            expectNoLease(catchThrowable(() -> framework.inTransaction(write)));
            expectNoLease(catchThrowable(() -> framework.withoutTransaction(write)));
        }
        framework.inTransaction(invoices -> assertThat(invoices.status(1)).isEqualTo("open"));
        framework.inReadOnlyTransaction(
                invoices -> assertThat(invoices.status(1)).isEqualTo("open"));
        framework.withoutTransaction(invoices -> assertThat(invoices.status(1)).isEqualTo("open"));
        assertThat(committed()).containsExactly("1|open", "2|open");
        expectNoConnectionInUse();
        lease.set(older);
        framework.inTransaction(invoices -> invoices.update(1, "closed"));
        assertThat(committed()).containsExactly("1|closed", "2|open");
    }

    private void expectNoLease(Throwable thrown) {
        assertThat(thrown).isExactlyInstanceOf(arrival().refusedWrite());
        assertThat(among(thrown, NoLeaseException.class)).isNotNull();
    }

    @Test
    void eachStatementIsFenced_outsideOfTransactions() {
        framework.withoutTransaction(invoices -> {
            invoices.update(1, "closed");
            invoices.updateAll(List.of(2), "closed");
            assertThat(invoices.status(2)).isEqualTo("closed");
        });
        raise(newer);

        for (Consumer<Invoices> stale : List.<Consumer<Invoices>>of(
                invoices -> invoices.update(1, "stale"),
                invoices -> invoices.updateAll(List.of(1, 2), "stale"),
                invoices -> invoices.insert(3, "stale", null))) {
            expectRefused(
                    catchThrowable(() -> framework.withoutTransaction(stale)),
                    arrival().refusedStatement());
        }
        assertThat(committed()).containsExactly("1|closed", "2|closed");
        expectNoConnectionInUse();
    }

    @Test
    void aBatchIsFenced() {
        framework.inTransaction(invoices -> invoices.updateAll(List.of(1, 2), "closed"));
        Throwable refused = catchThrowable(() ->
                framework.inTransaction(overtaken(invoices -> invoices.updateAll(List.of(1, 2), "stale"))));

        expectRefusedCommit(refused);
        assertThat(committed()).containsExactly("1|closed", "2|closed");
    }

    @Test
    void aNestedTransactionIsUndoneAlone() {
        framework.inTransaction(invoices -> {
            invoices.update(1, "outer");
            invoices.nested(inner -> inner.update(2, "kept"));
            assertThatThrownBy(() -> invoices.nested(inner -> {
                        inner.update(2, "undone");
                        throw new IllegalArgumentException("stop");
                    }))
                    .isInstanceOf(IllegalArgumentException.class);
        });

        assertThat(committed()).containsExactly("1|outer", "2|kept");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aStaleTransactionIsRefused_whetherANestedOneWasUndoneOrNot(boolean undone) {
        Throwable refused = catchThrowable(() -> framework.inTransaction(invoices -> {
            invoices.update(1, "stale");
            invoices.nested(inner -> inner.update(2, "stale"));
            if (undone) {
                assertThatThrownBy(() -> invoices.nested(inner -> {
                            inner.update(2, "undone");
                            throw new IllegalArgumentException("stop");
                        }))
                        .isInstanceOf(IllegalArgumentException.class);
            }
            raise(newer);
        }));

        expectRefusedCommit(refused);
        assertThat(committed()).containsExactly("1|open", "2|open");
    }

    @Test
    void aTransactionWithinAnotherOneIsCommittedOnItsOwn() {
        Throwable refused = catchThrowable(() -> framework.inTransaction(outer -> {
            outer.update(1, "stale");
            framework.inTransaction(inner -> inner.update(2, "before the raise"));
            raise(newer);
            expectRefusedCommit(catchThrowable(() -> framework.inTransaction(inner -> inner.update(2, "stale"))));
        }));

        expectRefusedCommit(refused);
        assertThat(committed()).containsExactly("1|open", "2|before the raise");
        expectNoConnectionInUse();
    }

    @Test
    void aReadOnlyTransactionReads_andCannotWrite() {
        framework.inReadOnlyTransaction(
                invoices -> assertThat(invoices.status(1)).isEqualTo("open"));
        Throwable written =
                catchThrowable(() -> framework.inReadOnlyTransaction(invoices -> invoices.update(1, "written")));

        assertThat(written).isExactlyInstanceOf(arrival().failedWrite());
        assertThat(among(written, SQLException.class).getSQLState()).isEqualTo("25006");
        assertThat(among(written, FencingException.class)).isNull();
        framework.inTransaction(invoices -> invoices.update(1, "not read-only"));
        assertThat(committed()).containsExactly("1|not read-only", "2|open");
        expectNoConnectionInUse();
    }

    @ParameterizedTest
    @MethodSource("settings")
    void aConstraintThatFailsAtTheCommit_isNoRefusal(String settings) {
        restart(settings);
        Throwable failed = catchThrowable(() -> framework.inTransaction(invoices -> {
            invoices.update(1, "undone");
            invoices.insert(3, "cancels what is not there", 99);
        }));

        assertThat(failed).isExactlyInstanceOf(arrival().failedCommit());
        assertThat(among(failed, SQLException.class).getSQLState()).isEqualTo("23503");
        assertThat(among(failed, FencingException.class)).isNull();
        framework.inTransaction(invoices -> invoices.update(2, "next"));
        assertThat(committed()).containsExactly("1|open", "2|next");
        expectNoConnectionInUse();
    }

    /** Invoice 2 is held by a newer token. */
    @Test
    void aRowFenceJoinsTheTransaction_andItsRefusalCountsAlthoughItIsSwallowed() {
        String sql = "UPDATE invoice SET status = ? WHERE id = ?";
        framework.inTransaction(invoices -> rowFenced(invoices, older, sql, "fenced", 1));
        assertThat(committed()).containsExactly("1|fenced", "2|open");

        Throwable refused = catchThrowable(() -> framework.inTransaction(invoices -> {
            invoices.insert(3, "stale", null);
            assertThatThrownBy(() -> rowFenced(invoices, older, sql, "stale", 2))
                    .isInstanceOf(FencedOutException.class);
        }));

        expectRefusedCommit(refused);
        assertThatThrownBy(() -> framework.inTransaction(invoices -> {
                    invoices.insert(3, "mixed", null);
                    rowFenced(invoices, newer, sql, "mixed", 1);
                }))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("token");
        assertThat(committed()).containsExactly("1|fenced", "2|open");
        expectNoConnectionInUse();
    }

    private void rowFenced(Invoices invoices, FakeLease by, String sql, String status, int id) {
        try {
            rows.update(invoices.connection(), by, sql, status, id);
        } catch (SQLException e) {
            throw new IllegalArgumentException(e);
        }
    }

    @Test
    void thePoolIsWhole_afterAThousandRefusals() {
        List<String> backends = backends();
        raise(newer);
        for (int i = 0; i < REFUSALS; i++) {
            boolean stale = i % 2 == 0;
            lease.set(stale ? older : null);
            Throwable refused = catchThrowable(() -> framework.inTransaction(invoices -> invoices.update(1, "x")));
            if (stale) {
                expectRefusedCommit(refused);
            } else {
                expectNoLease(refused);
            }
        }

        expectNoConnectionInUse();
        assertThat(backends()).as("no connection was broken").isEqualTo(backends);
        lease.set(newer);
        framework.inTransaction(outer -> {
            outer.update(1, "with one connection");
            framework.inTransaction(inner -> inner.update(2, "and the other"));
        });
        assertThat(committed()).containsExactly("1|with one connection", "2|and the other");
    }
}
