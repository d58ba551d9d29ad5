package io.ringfence.election.consul;

import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * What may go wrong in a history, from nothing to everything, and which rules cannot hold then.
 *
 * <p>Two more things are left out of all histories. A process is never suspended that also has its wall clock set back, for
 * then neither clock shows the time that passed. And clocks are slower than Consul's by less than the margin allows.
 */
enum Faults {
    /** Nothing fails. */
    NONE(false),

    /** Requests, answers, watches, Raft leaders and processes fail. Sessions end by their ttl alone. */
    NETWORK(true, losses()),

    /** The clocks of processes drift, step and stop as well. */
    CLOCKS(true, losses()),

    /** Sessions are destroyed by hand as well, and a lock delay longer than the term is in force. */
    SESSIONS(true, losses()),

    /** Keys are deleted, released and locked by hand, and sessions destroyed, with and without a lock delay. */
    HANDS(
            true,
            losses(),
            except(Rule.ONE_LEADER, "a key taken from its holder by hand is free before the holder knows"),
            except(Rule.TOKENS_GROW, "a lock whose key is taken by hand before its answer arrives is granted late"),
            except(Rule.NO_FALSE_ALARM, "a key given back by hand to the session of an older lease is confirmed")),

    /** Consul goes back to a snapshot. */
    RESTORE(
            true,
            losses(),
            except(Rule.ONE_LEADER, "the key is given back to whoever held it at the time of the snapshot"),
            except(Rule.TOKENS_GROW, "a lock that is gone since is granted late, if it was answered before"),
            except(Rule.NO_FALSE_ALARM, "tokens do go backwards"),
            except(Rule.QUIET_WAITING, "a guard of the time before is refused once")),

    /** Consul loses everything, or all since a snapshot, and its indexes start low. */
    REBUILD(
            true,
            losses(),
            except(Rule.ONE_LEADER, "the sessions of the holders are gone before they know"),
            except(Rule.NO_FALSE_ALARM, "tokens do go backwards"),
            except(Rule.QUIET_WAITING, "a guard of the time before is refused once"),
            except(Rule.TOKENS_GROW, "a new process has not seen the tokens from before"));

    private record Excuse(Rule rule, String why) {}

    /** Whether anything fails at all. */
    final boolean any;

    /** The rules that are not checked, and why. */
    @SuppressWarnings("ImmutableEnumChecker") // List.of is
    private final List<Excuse> excuses;

    Faults(boolean any, Excuse... excuses) {
        this.any = any;
        this.excuses = List.of(excuses);
    }

    /** Whether the rule is not checked. */
    boolean excuse(Rule rule) {
        for (Excuse excuse : excuses) {
            if (excuse.rule() == rule) {
                return true;
            }
        }
        return false;
    }

    private static Excuse losses() {
        return except(Rule.WANTED_LOSS, "leases are lost when something fails");
    }

    private static Excuse except(Rule rule, String why) {
        return new Excuse(rule, why);
    }

    /** The faults that must have happened in many histories of this kind. */
    Set<FaultKind> kinds() {
        Set<FaultKind> kinds = EnumSet.of(FaultKind.FOREIGN_PUT);
        if (any) {
            kinds.addAll(EnumSet.range(FaultKind.REQUEST_LOST, FaultKind.PROCESS_RESTARTED));
        }
        switch (this) {
            case NONE, NETWORK -> {}
            case CLOCKS -> kinds.addAll(EnumSet.range(FaultKind.CLOCK_DRIFT, FaultKind.SUSPENDED));
            case SESSIONS -> kinds.add(FaultKind.SESSION_DESTROYED);
            case HANDS -> kinds.addAll(EnumSet.range(FaultKind.SESSION_DESTROYED, FaultKind.KEY_LOCKED));
            case RESTORE -> kinds.add(FaultKind.RESTORED);
            case REBUILD -> kinds.add(FaultKind.REBUILT);
        }
        return kinds;
    }
}
