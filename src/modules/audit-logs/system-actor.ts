/** Actor of entries about what the service does by itself. Like that of operators, it names no person. */
export const SYSTEM = {
  name: 'system',
  email: 'system',
  origin: { ip: '', userAgent: 'background job' },
};
