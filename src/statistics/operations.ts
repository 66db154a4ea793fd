/** Imports what defines the operations of statistics, which run in the threads of the database. */
import './recount/store.ts';
