// Signing in. Tokens live in this module's memory and nowhere else: a reload signs out.

const RENEW_MS = 120_000; // before a token ends
const TIMEOUT_MS = 20_000;
const FLOW = "tallyreel.flow"; // what must outlive the trip to the issuer's page; no token
let config = null;
let tokens = null;
let renewing = null;
let ended = () => {};

export class SignInRefused extends Error {
  constructor(code, message) {
    super(message ?? code);
    this.code = code;
  }
}

export function begin(settings, onEnd) {
  config = settings;
  ended = onEnd;
}

export const signedIn = () => tokens !== null;
export const isOperator = () => tokens?.groups.includes(config.operator_group) ?? false;
export const whoami = () => tokens?.name ?? "";
export const byPassword = () => config.identity.sign_in === "password";

export async function token() {
  if (tokens && tokens.until - Date.now() < RENEW_MS && tokens.refresh) {
    renewing ??= renew().finally(() => (renewing = null));
    await renewing;
  }
  return tokens?.access;
}

export function signOut({ told = false } = {}) {
  const had = tokens;
  tokens = null;
  if (!had) return;
  if (had.refresh && byPassword() && !told) {
    cognito("RevokeToken", { Token: had.refresh, ClientId: config.identity.client_id }).catch(() => {});
  }
  ended(told);
}

async function renew() {
  try {
    if (byPassword()) {
      const answer = await cognito("InitiateAuth", {
        AuthFlow: "REFRESH_TOKEN_AUTH",
        ClientId: config.identity.client_id,
        AuthParameters: { REFRESH_TOKEN: tokens.refresh },
      });
      keep({ refresh: tokens.refresh, ...fromCognito(answer.AuthenticationResult) });
    } else {
      keep(await exchange({ grant_type: "refresh_token", refresh_token: tokens.refresh }));
    }
  } catch (trouble) {
    if (trouble instanceof SignInRefused) signOut({ told: true }); // else: try with what there is
  }
}

function keep({ access, refresh, seconds, name }) {
  const claims = claimsOf(access);
  const groups = claims["cognito:groups"] ?? claims.groups ?? [];
  tokens = {
    access,
    refresh,
    until: Date.now() + seconds * 1000,
    groups: [groups].flat(),
    name: name ?? tokens?.name ?? claims.username ?? claims.sub,
  };
}

// Only to show the right pages; the service decides by itself what a token may do.
function claimsOf(jwt) {
  try {
    const text = atob(jwt.split(".")[1].replace(/-/g, "+").replace(/_/g, "/"));
    return JSON.parse(new TextDecoder().decode(Uint8Array.from(text, (each) => each.charCodeAt(0))));
  } catch {
    return {};
  }
}

// --- Cognito, with a password ---------------------------------------------------------------------

const fromCognito = (result) => ({
  access: result.AccessToken,
  seconds: result.ExpiresIn ?? 3600,
  ...(result.RefreshToken ? { refresh: result.RefreshToken } : {}),
});

async function cognito(action, body) {
  const answer = await fetch(config.identity.endpoint, {
    method: "POST",
    headers: {
      "Content-Type": "application/x-amz-json-1.1",
      "X-Amz-Target": `AWSCognitoIdentityProviderService.${action}`,
    },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  const said = await answer.json().catch(() => ({}));
  if (answer.ok) return said;
  if (answer.status >= 500) throw new TypeError(`${action}: ${answer.status}`);
  throw new SignInRefused(String(said.__type ?? answer.status).split("#").pop(), said.message);
}

// Gives the next question to ask ("NEW_PASSWORD_REQUIRED", "SOFTWARE_TOKEN_MFA"), or null when in.
export async function withPassword(name, password) {
  const answer = await cognito("InitiateAuth", {
    AuthFlow: "USER_PASSWORD_AUTH",
    ClientId: config.identity.client_id,
    AuthParameters: { USERNAME: name, PASSWORD: password },
  });
  return settle(answer, name);
}

export async function respond(step, given) {
  const field = { NEW_PASSWORD_REQUIRED: "NEW_PASSWORD", SOFTWARE_TOKEN_MFA: "SOFTWARE_TOKEN_MFA_CODE" }[step.challenge];
  const answer = await cognito("RespondToAuthChallenge", {
    ChallengeName: step.challenge,
    ClientId: config.identity.client_id,
    Session: step.session,
    ChallengeResponses: { USERNAME: step.user, [field]: given },
  });
  return settle(answer, step.name);
}

function settle(answer, name) {
  if (answer.AuthenticationResult) {
    keep({ ...fromCognito(answer.AuthenticationResult), name });
    return null;
  }
  const known = ["NEW_PASSWORD_REQUIRED", "SOFTWARE_TOKEN_MFA"];
  if (!known.includes(answer.ChallengeName)) throw new SignInRefused("ChallengeUnknown", answer.ChallengeName);
  const user = answer.ChallengeParameters?.USER_ID_FOR_SRP ?? name;
  return { challenge: answer.ChallengeName, session: answer.Session, name, user };
}

// --- any OIDC issuer, on its own page: code flow with PKCE -----------------------------------------

const here = () => location.origin + location.pathname;

const url64 = (raw) =>
  btoa(String.fromCharCode(...new Uint8Array(raw))).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");

async function discovered() {
  const issuer = config.identity.issuer.replace(/\/$/, "");
  const answer = await fetch(`${issuer}/.well-known/openid-configuration`, { signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (!answer.ok) throw new TypeError(`discovery: ${answer.status}`);
  return answer.json();
}

export async function toIssuer() {
  const [verifier, state] = [32, 16].map((size) => url64(crypto.getRandomValues(new Uint8Array(size))));
  const challenge = url64(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier)));
  const where = await discovered();
  sessionStorage.setItem(FLOW, JSON.stringify({ verifier, state, hash: location.hash }));
  const asked = new URL(where.authorization_endpoint);
  const wanted = {
    response_type: "code",
    client_id: config.identity.client_id,
    redirect_uri: here(),
    scope: "openid",
    state,
    code_challenge: challenge,
    code_challenge_method: "S256",
  };
  for (const [name, value] of Object.entries(wanted)) asked.searchParams.set(name, value);
  location.assign(asked);
}

// Completes a sign-in that this page sent to the issuer; false if this is no return from there.
export async function fromIssuer() {
  const given = new URLSearchParams(location.search);
  const flow = JSON.parse(sessionStorage.getItem(FLOW) ?? "null");
  if (!given.has("state") || byPassword()) return false;
  sessionStorage.removeItem(FLOW);
  history.replaceState(null, "", here() + (flow?.hash ?? ""));
  if (!flow || flow.state !== given.get("state")) throw new SignInRefused("StateUnknown");
  if (!given.has("code")) throw new SignInRefused(given.get("error") ?? "CodeMissing", given.get("error_description"));
  keep(await exchange({
    grant_type: "authorization_code",
    code: given.get("code"),
    redirect_uri: here(),
    code_verifier: flow.verifier,
  }));
  return true;
}

async function exchange(fields) {
  const where = await discovered();
  const answer = await fetch(where.token_endpoint, {
    method: "POST",
    body: new URLSearchParams({ client_id: config.identity.client_id, ...fields }),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  const said = await answer.json().catch(() => ({}));
  if (answer.status >= 500) throw new TypeError(`token: ${answer.status}`);
  if (!answer.ok) throw new SignInRefused(said.error ?? String(answer.status), said.error_description);
  return {
    access: said.access_token,
    refresh: said.refresh_token ?? tokens?.refresh,
    seconds: said.expires_in ?? 3600,
    name: said.id_token ? claimsOf(said.id_token).email : undefined,
  };
}
