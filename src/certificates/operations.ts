/** Imports what defines the operations of certificates, which run in the threads of the database. */
import './acme/store.ts';
