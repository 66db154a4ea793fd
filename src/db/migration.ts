/** One step of the schema's history. Its id names it and defines the order. Its SQL runs once, in a transaction. */
export type Migration = { id: string; sql: string };
