package io.ringfence.fencing.corpus;

/** What is under test: {@link FencedSql#compile}, or the same with a bug in it. */
@FunctionalInterface
interface StatementCompiler {

    /** Compiles a statement, or throws {@link io.ringfence.fencing.NotFenceableException}. */
    FencedSql compile(String sql);
}
