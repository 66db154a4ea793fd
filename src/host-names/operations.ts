/** Imports what defines the operations of host names, which run in the threads of the database. */
import './served-names.ts';
