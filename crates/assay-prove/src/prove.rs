//! Groth16, as the .zkey format fixes it: the quotient is evaluated on the coset of the root of twice the domain.
use crate::files::Result;
use crate::key::Key;
use ark_bn254::{Fq, Fr, G1Affine, G1Projective, G2Affine, G2Projective};
use ark_ec::scalar_mul::variable_base::VariableBaseMSM;
use ark_ec::CurveGroup;
use ark_ff::{AdditiveGroup, BigInteger, FftField, Field, PrimeField};
use ark_poly::{EvaluationDomain, Radix2EvaluationDomain};
use rayon::join;

/// A proof: A and C in G1, B in G2.
pub struct Proof {
    a: G1Affine,
    b: G2Affine,
    c: G1Affine,
}

impl Proof {
    /// The eight coordinates as big-endian words, as EIP-197 orders them: of G2 the second coefficient first.
    pub fn bytes(&self) -> Vec<u8> {
        let word = |coordinate: Fq| coordinate.into_bigint().to_bytes_be();
        [
            self.a.x,
            self.a.y,
            self.b.x.c1,
            self.b.x.c0,
            self.b.y.c1,
            self.b.y.c0,
            self.c.x,
            self.c.y,
        ]
        .into_iter()
        .flat_map(word)
        .collect()
    }
}

/// Proves that the key's constraints hold for the witness. Where they do not, the proof is one that no verifier takes.
pub fn prove(key: &Key, witness: &[Fr]) -> Result<Proof> {
    if witness.len() != key.wires || witness[0] != Fr::ONE {
        return Err(format!(
            "a witness of {} values for {} wires",
            witness.len(),
            key.wires
        ));
    }
    let (r, s) = (random()?, random()?);
    let private = &witness[key.public_wires + 1..];
    // The largest sum first, beside the sum in G2, which is the dearest for each term.
    let ((quotient, b2), (a, (b1, c))) = join(
        || {
            join(
                || quotient_sum(key, witness),
                || sum::<G2Projective>(&key.b2, witness),
            )
        },
        || {
            join(
                || sum::<G1Projective>(&key.a, witness),
                || {
                    join(
                        || sum::<G1Projective>(&key.b1, witness),
                        || sum::<G1Projective>(&key.c, private),
                    )
                },
            )
        },
    );
    let quotient = quotient?;
    let a = a + key.alpha1 + key.delta1 * r;
    let b1 = b1 + key.beta1 + key.delta1 * s;
    let b = b2 + key.beta2 + key.delta2 * s;
    let c = c + quotient + a * s + b1 * r - key.delta1 * (r * s);
    Ok(Proof {
        a: a.into_affine(),
        b: b.into_affine(),
        c: c.into_affine(),
    })
}

/// `Σ wire · point`. Most wires are bits: zeros are left out and ones added as they are.
fn sum<G: VariableBaseMSM<ScalarField = Fr>>(points: &[G::MulBase], witness: &[Fr]) -> G {
    let mut total = G::zero();
    let mut bases = Vec::new();
    let mut scalars = Vec::new();
    for (point, value) in points.iter().zip(witness) {
        if *value == Fr::ONE {
            total += *point;
        } else if *value != Fr::ZERO {
            bases.push(*point);
            scalars.push(value.into_bigint());
        }
    }
    total + G::msm_bigint(&bases, &scalars)
}

/// The sum over the quotient `(A·B − C) / Z`, by its values on the coset.
fn quotient_sum(key: &Key, witness: &[Fr]) -> Result<G1Projective> {
    let domain = Radix2EvaluationDomain::<Fr>::new(key.domain).ok_or("the domain is too large")?;
    let shift = Fr::get_root_of_unity(2 * key.domain as u64).ok_or("the domain is too large")?;
    let mut a = vec![Fr::ZERO; key.domain];
    let mut b = vec![Fr::ZERO; key.domain];
    for coefficient in &key.coefficients {
        let side = if coefficient.is_b { &mut b } else { &mut a };
        side[coefficient.row] += coefficient.value * witness[coefficient.wire];
    }
    let c: Vec<Fr> = a.iter().zip(&b).map(|(a, b)| *a * b).collect();
    let on_coset = |mut values: Vec<Fr>| {
        domain.ifft_in_place(&mut values);
        let mut power = Fr::ONE;
        for value in &mut values {
            *value *= power;
            power *= shift;
        }
        domain.fft_in_place(&mut values);
        values
    };
    let (a, (b, c)) = join(|| on_coset(a), || join(|| on_coset(b), || on_coset(c)));
    let scalars: Vec<_> = a
        .iter()
        .zip(&b)
        .zip(&c)
        .map(|((a, b), c)| (*a * b - c).into_bigint())
        .collect();
    Ok(G1Projective::msm_bigint(&key.h, &scalars))
}

/// A scalar from the system's source of randomness: 512 bits, reduced.
fn random() -> Result<Fr> {
    let mut bytes = [0; 64];
    getrandom::getrandom(&mut bytes).map_err(|error| error.to_string())?;
    Ok(Fr::from_le_bytes_mod_order(&bytes))
}
