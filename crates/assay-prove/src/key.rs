//! Proving keys as .zkey files hold them: points affine, in Montgomery form; coefficients times 2^512.
use crate::files::{Bytes, Result, Sections};
use ark_bn254::{Fq, Fq2, Fr, G1Affine, G2Affine};
use ark_ff::{AdditiveGroup, BigInt, PrimeField};

const GROTH16: u32 = 1;
const FIELD_BYTES: u32 = 32;
/// The two-adicity of the scalar field, less one: the coset needs a root of twice the domain.
const MOST_DOMAIN: u32 = 1 << 27;

/// One coefficient of A or B.
pub struct Coefficient {
    pub is_b: bool,
    pub row: usize,
    pub wire: usize,
    pub value: Fr,
}

/// A proving key.
pub struct Key {
    pub wires: usize,
    pub public_wires: usize,
    pub domain: usize,
    pub alpha1: G1Affine,
    pub beta1: G1Affine,
    pub beta2: G2Affine,
    pub delta1: G1Affine,
    pub delta2: G2Affine,
    pub coefficients: Vec<Coefficient>,
    pub a: Vec<G1Affine>,
    pub b1: Vec<G1Affine>,
    pub b2: Vec<G2Affine>,
    pub c: Vec<G1Affine>,
    pub h: Vec<G1Affine>,
}

impl Key {
    pub fn read(content: &[u8]) -> Result<Self> {
        let sections = Sections::read(b"zkey", content)?;
        if sections.get(1)?.u32()? != GROTH16 {
            return Err(String::from("the key is not one of Groth16"));
        }
        let mut header = sections.get(2)?;
        order(&mut header, Fq::MODULUS, "base")?;
        order(&mut header, Fr::MODULUS, "scalar")?;
        let [wires, public_wires, domain] = [header.u32()?, header.u32()?, header.u32()?];
        if !domain.is_power_of_two() || domain > MOST_DOMAIN || public_wires >= wires {
            return Err(format!(
                "{wires} wires, {public_wires} of them public, a domain of {domain}"
            ));
        }
        let alpha1 = g1(&mut header)?;
        let beta1 = g1(&mut header)?;
        let beta2 = g2(&mut header)?;
        let _gamma2 = g2(&mut header)?;
        let delta1 = g1(&mut header)?;
        let delta2 = g2(&mut header)?;
        let [wires, public_wires, domain] =
            [wires, public_wires, domain].map(|count| count as usize);
        Ok(Self {
            wires,
            public_wires,
            domain,
            alpha1,
            beta1,
            beta2,
            delta1,
            delta2,
            coefficients: coefficients(sections.get(4)?, domain, wires)?,
            a: points(sections.get(5)?, wires, g1)?,
            b1: points(sections.get(6)?, wires, g1)?,
            b2: points(sections.get(7)?, wires, g2)?,
            c: points(sections.get(8)?, wires - public_wires - 1, g1)?,
            h: points(sections.get(9)?, domain, g1)?,
        })
    }
}

/// Reads the values of a .wtns file.
pub fn read_witness(content: &[u8]) -> Result<Vec<Fr>> {
    let sections = Sections::read(b"wtns", content)?;
    let mut header = sections.get(1)?;
    order(&mut header, Fr::MODULUS, "scalar")?;
    let count = header.u32()? as usize;
    let mut values = sections.get(2)?;
    let witness: Vec<Fr> = (0..count)
        .map(|i| {
            Fr::from_bigint(BigInt(values.limbs()?))
                .ok_or_else(|| format!("value {i} is above the field's order"))
        })
        .collect::<Result<_>>()?;
    match values.0.len() {
        0 => Ok(witness),
        left => Err(format!("{left} bytes stand behind the witness")),
    }
}

fn order(bytes: &mut Bytes<'_>, expected: BigInt<4>, field: &str) -> Result<()> {
    if bytes.u32()? != FIELD_BYTES || BigInt(bytes.limbs()?) != expected {
        return Err(format!("the {field} field is not that of BN254"));
    }
    Ok(())
}

fn coefficients(mut bytes: Bytes<'_>, domain: usize, wires: usize) -> Result<Vec<Coefficient>> {
    // One limb of 1 in Montgomery form is 2^-256.
    let unit = Fr::new_unchecked(BigInt::<4>::from(1u64));
    (0..bytes.u32()?)
        .map(|_| {
            let [matrix, row, wire] = [bytes.u32()?, bytes.u32()?, bytes.u32()?];
            let [row, wire] = [row, wire].map(|index| index as usize);
            let limbs = BigInt(bytes.limbs()?);
            if matrix > 1 || row >= domain || wire >= wires || limbs >= Fr::MODULUS {
                return Err(format!(
                    "a coefficient of matrix {matrix}, row {row}, wire {wire}"
                ));
            }
            Ok(Coefficient {
                is_b: matrix == 1,
                row,
                wire,
                value: Fr::new_unchecked(limbs) * unit,
            })
        })
        .collect()
}

fn points<P>(
    mut bytes: Bytes<'_>,
    count: usize,
    read: impl Fn(&mut Bytes<'_>) -> Result<P>,
) -> Result<Vec<P>> {
    let points = (0..count)
        .map(|_| read(&mut bytes))
        .collect::<Result<_>>()?;
    match bytes.0.len() {
        0 => Ok(points),
        left => Err(format!("{left} bytes stand behind {count} points")),
    }
}

fn coordinate(bytes: &mut Bytes<'_>) -> Result<Fq> {
    let limbs = BigInt(bytes.limbs()?);
    if limbs >= Fq::MODULUS {
        return Err(String::from("a coordinate is above the field's order"));
    }
    Ok(Fq::new_unchecked(limbs))
}

fn g1(bytes: &mut Bytes<'_>) -> Result<G1Affine> {
    let (x, y) = (coordinate(bytes)?, coordinate(bytes)?);
    if x == Fq::ZERO && y == Fq::ZERO {
        return Ok(G1Affine::identity());
    }
    Ok(G1Affine::new_unchecked(x, y))
}

fn g2(bytes: &mut Bytes<'_>) -> Result<G2Affine> {
    let mut pair = || Ok::<_, String>(Fq2::new(coordinate(bytes)?, coordinate(bytes)?));
    let (x, y) = (pair()?, pair()?);
    if x == Fq2::ZERO && y == Fq2::ZERO {
        return Ok(G2Affine::identity());
    }
    Ok(G2Affine::new_unchecked(x, y))
}
