/** Imports what defines the operations of topics, which run in the threads of the database. */
import './store.ts';
