/** Imports what defines the operations of submission, which run in the threads of the database. */
import './accept.ts';
import './limits/store.ts';
