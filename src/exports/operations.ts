/** Imports what defines the operations of exports, which run in the threads of the database. */
import './store.ts';
