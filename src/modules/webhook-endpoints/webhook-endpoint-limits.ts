/** Maximum number of endpoints of an organization in one environment (specification, "Limits"). */
export const MAX_ENDPOINTS = 10;
/** Characters (specification, "Limits"). */
export const MAX_URL_LENGTH = 2083;
export const MAX_DESCRIPTION_LENGTH = 255;
