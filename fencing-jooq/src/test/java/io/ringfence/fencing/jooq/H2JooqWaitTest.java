package io.ringfence.fencing.jooq;

import org.jooq.SQLDialect;

/** Waiting on H2. */
class H2JooqWaitTest extends JooqWaitContract {

    H2JooqWaitTest() {
        super(
                h2(),
                SQLDialect.H2,
                "\"fencing_token\"",
                "SELECT count(*) FROM INFORMATION_SCHEMA.SESSIONS WHERE BLOCKER_ID IS NOT NULL");
    }
}
