/** Imports what defines the operations of jobs, which run in the threads of the database. */
import './store.ts';
