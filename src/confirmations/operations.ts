/** Imports what defines the operations of confirmations, which run in the threads of the database. */
import './accept.ts';
