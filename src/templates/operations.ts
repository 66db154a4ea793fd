/** Imports what defines the operations of templates, which run in the threads of the database. */
import './store.ts';
