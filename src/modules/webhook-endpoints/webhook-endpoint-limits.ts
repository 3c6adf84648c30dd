/** Endpoints of a client, that is of an organization in one environment (specification, "Limits"). */
export const MOST_ENDPOINTS = 10;
/** Characters (specification, "Limits"). */
export const LONGEST_URL = 2083;
export const LONGEST_DESCRIPTION = 255;
