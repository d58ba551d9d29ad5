package io.ringfence.fencing.jdbi;

/** An invoice, read by its getters as a bean, and by its methods as a record is. */
public final class Invoice {
    private final int id;
    private final String status;

    public Invoice(int id, String status) {
        this.id = id;
        this.status = status;
    }

    public int getId() {
        return id;
    }

    public String getStatus() {
        return status;
    }

    public int id() {
        return id;
    }

    public String status() {
        return status;
    }
}
