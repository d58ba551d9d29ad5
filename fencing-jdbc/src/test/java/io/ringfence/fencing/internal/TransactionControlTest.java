package io.ringfence.fencing.internal;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TransactionControlTest {

    @ParameterizedTest
    @ValueSource(
            strings = {
                "COMMIT",
                " commit and chain",
                "/* x */ -- y\n commit;",
                "END",
                "ABORT",
                "BEGIN",
                "START TRANSACTION",
                "ROLLBACK",
                "rollback work",
                "ROLLBACK AND CHAIN",
                "PREPARE TRANSACTION 'x'",
                "UPDATE t SET a = 1; COMMIT",
                "UPDATE t SET a = ';'; /* ; */ COMMIT; UPDATE t SET a = 2",
                "COMMIT PREPARED 'x'",
                "SELECT $$;$$; commit",
            })
    void refusesWhatBeginsOrEndsATransaction(String sql) {
        assertThatThrownBy(() -> TransactionControl.refuse(sql))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("never by SQL text");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                ";",
                "SELECT 'COMMIT; x'",
                "SAVEPOINT commit",
                "ROLLBACK TO SAVEPOINT x",
                "rollback transaction to x",
                "RELEASE SAVEPOINT x",
                "PREPARE p AS SELECT 1",
                "SELECT 1; SELECT 2;",
                "SELECT 'C:\\'",
                "{call commit_all(?)}",
                "UPDATE commit SET a = 1",
                "DO $$ BEGIN PERFORM 1; END $$",
                "commits",
            })
    void letsEverythingElsePass(String sql) {
        assertThatCode(() -> TransactionControl.refuse(sql)).doesNotThrowAnyException();
    }

    @Test
    void refusesSeveralStatements_thatCannotBeSplitWithCertainty() {
        assertThatThrownBy(() -> TransactionControl.refuse("SELECT 'x\\'' ; COMMIT; --'"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("one by one")
                .hasStackTraceContaining("backslash");
    }
}
