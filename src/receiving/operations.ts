/** Imports what defines the operations of receiving, which run in the threads of the database. */
import './accept.ts';
import './expire.ts';
import './operator/replay.ts';
import './sender/store.ts';
