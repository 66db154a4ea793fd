/** One step of the schema's history: its id orders and names it, its SQL is run once, in a transaction. */
export type Migration = { id: string; sql: string };
