/** Imports what defines the operations of the routes, which run in the threads of the database. */
import './store.ts';
