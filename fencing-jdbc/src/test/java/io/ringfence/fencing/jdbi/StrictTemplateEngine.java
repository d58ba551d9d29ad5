package io.ringfence.fencing.jdbi;

import java.util.Map;
import org.jdbi.v3.core.statement.StatementContext;
import org.jdbi.v3.core.statement.TemplateEngine;

/** A user's own template engine, which takes no attribute but {@code table}. */
public final class StrictTemplateEngine implements TemplateEngine {

    @Override
    public String render(String template, StatementContext context) {
        Map<String, Object> attributes = context.getAttributes();
        if (!attributes.keySet().equals(java.util.Set.of("table"))) {
            throw new IllegalArgumentException("What is " + attributes + "?");
        }
        return template.replace("$table$", String.valueOf(attributes.get("table")));
    }
}
