package io.ringfence.election.consul;

import java.util.EnumSet;
import java.util.Set;

/** Bugs that elections are known for, each as a change of the source code and the rule that it breaks. */
enum PlantedBug {
    DEADLINE_COUNTS_FROM_THE_ANSWER(
            Rule.ONE_LEADER,
            Faults.CLOCKS,
            "SessionKeeper",
            "generation.extend(generation.renewSentAt.plus(",
            "generation.extend(now.plus("),
    DEADLINE_MOVED_AFTER_IT_HAS_PASSED(
            Rule.LOSS_IS_FINAL,
            Faults.NETWORK,
            "SessionKeeper",
            "if (expireIfDue(now)) {\n            return;\n        }\n        if (answer instanceof ConsulAnswer.SessionGone) {",
            "if (answer instanceof ConsulAnswer.SessionGone) {"),
    DEADLINE_WITHOUT_MARGIN(Rule.ONE_LEADER, Faults.CLOCKS, "Settings", "sessionTtl.minus(margin)", "sessionTtl"),
    DEADLINE_ON_THE_MONOTONIC_CLOCK_ALONE(
            Rule.ONE_LEADER,
            Faults.CLOCKS,
            "Moment",
            "wallMillis + duration.toMillis());",
            "wallMillis + duration.toMillis() + 1_000_000_000);"),
    LOSS_NOT_DECLARED(
            Rule.ONE_LOSS,
            Faults.NETWORK,
            "Slot",
            "lost.markLost(reason);",
            "if (reason != LossReason.DEADLINE_EXCEEDED) { lost.markLost(reason); }"),
    LOSS_TOLD_TWICE(
            Rule.ONE_LOSS,
            Faults.NONE,
            "ElectionEvents",
            "listeners.lost(lease, reason);",
            "listeners.lost(lease, reason); listeners.lost(lease, reason);"),
    LOSS_OF_A_KEY_IGNORED(
            EnumSet.of(Rule.LOSS_IS_NOTICED, Rule.QUIET_WAITING, Rule.ONE_LOSS),
            Faults.HANDS,
            "Slot",
            "if (lease != null && doubt != null) {",
            "if (false) {"),
    WATCH_JUDGES(
            Rule.WANTED_LOSS,
            Faults.NONE,
            "Slot",
            "suspect = true; // not ours any more",
            "lose(LossReason.LOCK_TAKEN); // not ours any more"),
    GRANT_WITH_LITTLE_LEFT(
            Rule.FRESH_GRANT, Faults.NETWORK, "SessionKeeper", ">= machine.settings.freshEnough().toNanos()", ">= 0"),
    TOKEN_READ_AFTER_THE_LOCK(
            Rule.TOKEN_OF_THE_LOCK,
            Faults.NETWORK,
            "Slot",
            "view = KeyState.heldBy(((ConsulRequest.Lock) request).session(), key, changed.index());",
            "view = null;"),
    TOKEN_NOT_COMPARED(
            Rule.TOKENS_GROW_IN_A_PROCESS,
            Faults.REBUILD,
            "Slot",
            "!seenTokens.isGreaterThanAll(token)",
            "token == null"),
    HOLDER_NOT_COMPARED(
            Rule.NO_FALSE_ALARM,
            Faults.NETWORK,
            "Slot",
            "view = read.state();",
            "view = grantable && machine.sessions.current() != null && !read.state().isFree()"
                    + " ? KeyState.heldBy(machine.sessions.current().session, key, read.state().index())"
                    + " : read.state();"),
    WAKE_UP_LOST(EnumSet.of(Rule.TAKEN_AT_ONCE, Rule.QUIET_WAITING), Faults.NONE, "Slot", "unheard = state;", ";"),
    SLEEP_ON_A_KEY_THAT_MAY_BE_FREE(
            Rule.TAKEN_AT_ONCE,
            Faults.NONE,
            "Slot",
            "} else if (!seen.isFree()) {\n            tickets.answerNo();",
            "} else if (!seen.isFree()) {\n            tickets.answerNo();"
                    + " if (isWaitedFor()) { pauseUntil(machine.now().plus(LONGEST_PAUSE)); }"),
    LOWER_INDEX_IGNORED(
            Rule.TAKEN_AT_ONCE,
            Faults.REBUILD,
            "KeyWatch",
            "index = wentBack ? 0 : Math.max(list.index(), 1);",
            "index = Math.max(index, list.index());"),
    WAITING_TRIES_AGAIN_AND_AGAIN(
            Rule.QUIET_WAITING,
            Faults.NONE,
            "Slot",
            "} else if (!seen.isFree()) {\n            tickets.answerNo();",
            "} else if (!seen.isFree() && tickets.isEmpty()) {\n            tickets.answerNo();"),
    DEAD_SESSION_NOT_DESTROYED(
            Rule.NO_SESSION_LEFT,
            Faults.NETWORK,
            "SessionKeeper",
            "if (reason == LossReason.SESSION_EXPIRED) {",
            "if (reason != LossReason.SHUTDOWN) {"),
    OUTCOME_NOT_SETTLED(
            EnumSet.of(Rule.ANSWERED, Rule.NO_ORPHAN),
            Faults.NETWORK,
            "Slot",
            "if (mustSettle || !tickets.isEmpty()) {",
            "if (!tickets.isEmpty()) {"),
    ORPHAN_WITHOUT_A_SLOT(Rule.NO_ORPHAN, Faults.HANDS, "KeyWatch", "machine.slotOfKey(state.key());", ";"),
    ORPHAN_OF_A_RESTORE(
            Rule.NO_ORPHAN, Faults.RESTORE, "Slot", "(ours || isHeldByOthers(view))", "isHeldByOthers(view)"),
    UNLOCK_BEFORE_THE_WORK_ENDED(
            Rule.WORK_ENDS_FIRST, Faults.NONE, "Slot", "if (windingDown != null) {", "if (false) {"),
    UNLOCK_WITHOUT_A_GUARD(
            Rule.ONE_LEADER, Faults.NETWORK, "SimulatedConsul", "!guard.exists() || !keys.matches(guard) || ", "");

    /** The rules that the bug breaks; which is seen first is up to chance. */
    @SuppressWarnings("ImmutableEnumChecker") // nobody changes it
    final Set<Rule> rules;

    /** The histories that show it. */
    final Faults faults;

    private final String type;
    private final String text;
    private final String replacement;

    PlantedBug(Rule rule, Faults faults, String type, String text, String replacement) {
        this(EnumSet.of(rule), faults, type, text, replacement);
    }

    PlantedBug(Set<Rule> rules, Faults faults, String type, String text, String replacement) {
        this.rules = rules;
        this.faults = faults;
        this.type = type;
        this.text = text;
        this.replacement = replacement;
    }

    /** Takes the code that the bug would be in, without the bug. */
    void takeInto(MutatedPackage code) {
        code.replace(type, text, text);
    }

    void plantIn(MutatedPackage code) {
        code.replace(type, text, replacement);
    }
}
