/** Imports what defines the operations of doctor, which run in the threads of the database. */
import './store.ts';
