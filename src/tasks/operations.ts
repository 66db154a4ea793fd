/** Imports what defines the operations of tasks, which run in the threads of the database. */
import './read-store.ts';
import './store.ts';
