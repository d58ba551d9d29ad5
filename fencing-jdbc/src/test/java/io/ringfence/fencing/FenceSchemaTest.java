package io.ringfence.fencing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class FenceSchemaTest {

    @Test
    void namesTheSchemaEverywhere_whenOneIsGiven() {
        FenceSchema schema = FenceSchema.postgres().inSchema("Billing");

        assertThat(schema.fenceTable() + schema.fenceFunctions() + schema.dropFence())
                .contains("\"billing\".ringfence_fence", "\"billing\".ringfence_fence_guard()")
                .contains("\"billing\".ringfence_seal_v1(", "\"billing\".ringfence_raise_v1(")
                .doesNotContain("{schema}", "{found}")
                .doesNotContainPattern("(FROM|INTO|ON|EXISTS|FUNCTION) ringfence_");
    }

    @Test
    void leavesTheTableToTheSearchPath_whenNoSchemaIsGiven() {
        assertThat(FenceSchema.postgres().fenceTable() + FenceSchema.postgres().dropFence())
                .contains("CREATE TABLE IF NOT EXISTS ringfence_fence")
                .doesNotContain("{schema}", "null.");
    }

    @Test
    void printsNoFunctions_withoutASchema() {
        assertThatThrownBy(() -> FenceSchema.postgres().fenceFunctions())
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("inSchema");
        assertThatThrownBy(() -> FenceSchema.postgres().grantSeal("writer")).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> FenceSchema.postgres().grantRaise("writer")).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void refusesWhatIsNoName() {
        assertThatThrownBy(() -> FenceSchema.postgres().inSchema("a; DROP TABLE t"))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> FenceSchema.postgres().inSchema("app").grantSeal("a, b"))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> FenceSchema.h2().inSchema("app").fenceFunctions())
                .isInstanceOf(UnsupportedOperationException.class);
    }

    @Test
    void printsGuards_forPostgresOnly() {
        assertThatThrownBy(() -> FenceSchema.h2().rowGuard("t")).isInstanceOf(UnsupportedOperationException.class);
        assertThatThrownBy(() -> FenceSchema.mariaDb().truncateGuard("t"))
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessageContaining("On MariaDB");
        assertThatThrownBy(() -> FenceSchema.h2().inSchema("app").commitGuard("t", "r"))
                .isInstanceOf(UnsupportedOperationException.class);
        assertThatThrownBy(() -> FenceSchema.h2().dropGuards("t")).isInstanceOf(UnsupportedOperationException.class);
    }

    @Test
    void putsTheFunctionsOfAGuardBesideItsTable_andThatOfCommitBesideTheFence() {
        FenceSchema schema = FenceSchema.postgres().inSchema("Fences");

        assertThat(schema.rowGuard("billing.invoice") + schema.truncateGuard("billing.invoice"))
                .contains("\"billing\".\"ringfence_guard_rows_v1_fencing_token\"()")
                .contains("\"billing\".\"ringfence_guard_truncate_v1\"()")
                .doesNotContain("{column}", "{setting}", "{target}", "fences");
        assertThat(schema.commitGuard("billing.invoice", "it's"))
                .contains("\"fences\".ringfence_guard_commit_v1('it''s')", "FROM \"fences\".ringfence_fence")
                .doesNotContain("{schema}", "{found}", "{setting}", "{target}");
    }

    @Test
    void refusesGuardsOfWhatIsNoName() {
        FenceSchema schema = FenceSchema.postgres();

        assertThatThrownBy(() -> schema.rowGuard("t; DROP TABLE t")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> schema.rowGuard("t", "a, b")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> schema.inSchema("app").commitGuard("t", " "))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> schema.commitGuard("t", "r"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("inSchema");
    }
}
