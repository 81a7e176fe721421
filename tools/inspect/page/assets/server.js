// SPDX-License-Identifier: MIT
// What handlepool-inspect is asked. The address of the page, with its token, is that of the answers.

export const ask = async (what, parameters = {}) => {
  const query = Object.entries(parameters).map(([name, value]) => `${name}=${value}`).join('&');
  const response = await fetch(query ? `${what}?${query}` : what, {signal: AbortSignal.timeout(30000)});
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error);
  return answer;
};
