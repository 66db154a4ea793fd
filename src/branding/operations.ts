/** Imports what defines the operations of branding, which run in the threads of the database. */
import './store.ts';
