/** Two digits: 0, 0.0078, 1.2e-7; – where it is no number. */
export const figureText = (value: number | null): string => (value === null ? '–' : value === 0 ? '0' : Math.abs(value) >= 0.001 && Math.abs(value) < 1000 ? String(Number(value.toPrecision(2))) : value.toExponential(1).replace('e+', 'e'));
