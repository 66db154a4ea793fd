/** There is no test in it. */
export {};
