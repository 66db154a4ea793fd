/** Imports what defines the operations of imports, which run in the threads of the database. */
import './store.ts';
